//go:build !linux

package shell_test

const fullVariable = "PODD_TEST_FULL"

func fullMain() error { return nil }
