"""What was chosen on development questions: compiled programs, their lock, and what may be evaluated with them."""
