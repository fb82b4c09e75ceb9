"""What a user brings, validated and frozen."""
