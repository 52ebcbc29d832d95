"""HippoRAG 2: a graph of phrases and passages, facts recognised as relevant, and a random walk from them."""
