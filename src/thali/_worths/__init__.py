"""Bradley-Terry-Luce worths of options: model, posterior density and samplers."""
