//go:build !linux

package builtin_test

const fullVariable = "PODD_TEST_FULL"

func fullMain() error { return nil }
