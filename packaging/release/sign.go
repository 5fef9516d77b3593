package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// namespace is what a signature is for, as ssh-keygen -Y wants it.
const namespace = "podd-release"

// parts writes the modules that podd is made of, as CycloneDX has them.
func (r *release) parts(ctx context.Context) error {
	sbom := r.command(ctx, "go", "tool", "cyclonedx-gomod", "mod", "-json", "-noserial", "-notimestamp", "-output", r.file("podd-"+r.number()+".cdx.json"), "..")
	sbom.Dir = "packaging"
	return sbom.Run()
}

// sign writes SHA256SUMS of all files, and its signature.
func (r *release) sign(ctx context.Context) error {
	names, err := filepath.Glob(r.file("*"))
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, name := range names {
		sum, err := sumOf(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, filepath.Base(name))
	}
	if err := os.WriteFile(r.file("SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		return err
	}
	if r.key == "none" {
		return nil
	}
	return r.command(ctx, "ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", r.key, r.file("SHA256SUMS")).Run()
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
