"""Language models and encoders: one metered type over every engine, and one ledger that sees every call."""
