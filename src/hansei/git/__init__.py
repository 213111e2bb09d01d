"""Facts from git, asked of the git program itself."""
