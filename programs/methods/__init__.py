"""StateRAG, its variants and its rivals, behind one protocol."""
