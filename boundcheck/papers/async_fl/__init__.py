"""Federated optimization with asynchronous and heterogeneous clients updates: FedFix (Y. Fraboni et al.)."""
