"""Files into source collections whose every character has an address: `text[start:end]` of what the file decodes to."""
