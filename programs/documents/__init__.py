"""Files into source collections whose every character has an address."""
