"""What is known of people, whichever model knows it: their columns, and segments of them."""
