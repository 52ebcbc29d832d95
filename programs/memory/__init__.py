"""SMP, the Shared Memory Pool: artifacts that outlive a cycle or a query, and who may read and write them."""
