package sanitize

// Hidden counts what Terminal shows as an escape: characters and bytes that a person
// would not see, or would see as something else. Who is asked to approve a text is told
// of them, since an escape can also stand in it by itself.
func Hidden(s string) int {
	safe := safePrefix(s, false)
	if safe == len(s) {
		return 0
	}
	var sc scanner
	_, _ = sc.append(nil, []byte(s), true)
	return sc.escaped
}
