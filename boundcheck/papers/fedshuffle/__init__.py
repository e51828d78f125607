"""FedShuffle: recipes for better use of local work in federated learning (S. Horvath et al., TMLR 2022)."""
