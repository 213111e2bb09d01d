"""The canonical model: what an agent did, whoever the agent was."""
