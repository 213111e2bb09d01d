"""The scenarios, one file each; the contract is `rig.scenario.Scenario`."""
