"""GraphRAG: an entity graph made by a model, its communities and their reports, searched locally or globally.

Where it differs from version 3.1.2: completions are JSON held to a schema instead of delimited records; text units are
cut by the encoder's tokens; the hierarchy of communities is igraph's Leiden applied again to what is too large, which
is not bit-equal to graspologic's; the last answering call is the shared reader's.
"""
