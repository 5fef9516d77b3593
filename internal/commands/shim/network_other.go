//go:build !linux

package shim

import (
	"errors"
	"syscall"
)

func ownNetwork(*syscall.SysProcAttr) {}

func startNetwork(int) error { return errors.New("only Linux gives a process a network of its own") }
