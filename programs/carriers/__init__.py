"""What carries a query's state from role to role."""
