"""How the system runs: state, contract, controller, roles, typed graph, scoped memory, models, command line."""
