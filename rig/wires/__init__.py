"""The protocols agents speak with a model, one file each; the contract is `rig.wire.Wire`."""
