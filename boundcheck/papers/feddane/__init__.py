"""FedDANE: a federated Newton-type method (T. Li, A. K. Sahu, M. Zaheer, M. Sanjabi, A. Talwalkar, V. Smith)."""
