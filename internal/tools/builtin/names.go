package builtin

// Names are the names of the tools that New makes, so that a configuration can be checked
// before a pod exists.
func Names() []string {
	return []string{
		"read_file", "write_file", "edit_file", "apply_patch", "list_dir", "repo_structure", "repo_map",
		"glob", "search", "shell", "job", "web_fetch", "todo",
	}
}
