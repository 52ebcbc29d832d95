"""What serves a language model: llama.cpp in the process, or a server."""
