"""The agents the rig drives, one file each; the contract is `rig.agent.Agent`."""
