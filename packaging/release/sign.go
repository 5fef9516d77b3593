package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// namespace is what a signature is for, as ssh-keygen -Y wants it.
const namespace = "podd-release"

// parts writes the modules that podd is made of, as CycloneDX has them. It has those of tests too: without -test,
// the generator leaves out what a program imports if go mod why names a test first.
func (r *release) parts(ctx context.Context) error {
	list := filepath.Join(r.work, "parts.json")
	generate := r.command(ctx, "go", "tool", "cyclonedx-gomod", "mod", "-test", "-json", "-noserial", "-notimestamp", "-output", list, "..")
	generate.Dir = "packaging"
	var said strings.Builder
	generate.Stderr = &said // It warns where git has no tag.
	if err := generate.Run(); err != nil {
		return fmt.Errorf("cyclonedx-gomod: %w: %s", err, said.String())
	}
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	var parts cyclonedx.BOM
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	// The version is this release's, whatever tags git has.
	podd := parts.Metadata.Component
	for i, of := range *parts.Dependencies {
		if of.Ref == podd.BOMRef {
			(*parts.Dependencies)[i].Ref = "podd"
		}
	}
	podd.BOMRef, podd.Version, podd.PackageURL = "podd", r.version, "pkg:golang/"+podd.Name+"@"+r.version
	if text, err = json.MarshalIndent(parts, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(r.file("podd-"+r.number()+".cdx.json"), append(text, '\n'), 0o644)
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
