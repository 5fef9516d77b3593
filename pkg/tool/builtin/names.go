package builtin

// Names are the names of the tools that New makes, so that a configuration can be
// checked before there is a pod.
func Names() []string {
	return []string{
		"read_file", "write_file", "edit_file", "apply_patch", "list_dir", "repo_structure", "repo_map",
		"glob", "search", "shell", "web_fetch", "todo",
	}
}
