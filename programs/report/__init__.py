"""What people look at: tables, state histories, figures."""
