package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes a .deb and a .rpm for each target of Linux.
func (r *release) packages(context.Context) error {
	for _, b := range r.built {
		if b.os != "linux" {
			continue
		}
		for _, packager := range []nfpm.PackagerWithExtension{deb.Default, rpm.DefaultRPM} {
			if err := r.packageOf(b, packager); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) packageOf(b built, packager nfpm.PackagerWithExtension) error {
	contents, err := r.contents(b, packager == nfpm.PackagerWithExtension(deb.Default))
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "podd", Arch: b.arch, Platform: "linux", Version: r.version, MTime: r.made,
		Section: "utils", Priority: "optional", Maintainer: "the podd project <podd@localhost>", License: "Apache-2.0",
		Description: "daemon that hosts LLM agents\n" +
			"podd hosts LLM agents as pods: named, durable, with any number of clients\n" +
			"that come and go. podctl talks to it. To run it in the background, from each\n" +
			"login on: systemctl --user enable --now podd.socket podd.service",
		Overridables: nfpm.Overridables{
			Recommends: []string{"bubblewrap", "git"},
			Contents:   contents,
			RPM:        nfpm.RPM{BuildHost: "localhost", Compression: "zstd"},
			Deb:        nfpm.Deb{Compression: "zstd"},
		},
		DisableGlobbing: true,
	})
	if err := nfpm.PrepareForPackager(info, strings.TrimPrefix(packager.ConventionalExtension(), ".")); err != nil {
		return err
	}
	out, err := os.Create(r.file(packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	if err := errors.Join(packager.Package(info, out), out.Close()); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(out.Name()), err)
	}
	return nil
}

// contents is a target's files below /usr. Manual pages are compressed, as both systems want
// them; the completions of zsh stand where each system's zsh looks.
func (r *release) contents(b built, debian bool) (list files.Contents, err error) {
	for _, f := range b.files {
		place := f.place
		switch {
		case strings.HasPrefix(place, "share/man/"):
			if f.source, err = r.compressed(f.source); err != nil {
				return nil, err
			}
			place += ".gz"
		case strings.HasPrefix(place, "share/systemd/"):
			place = "lib/systemd/" + strings.TrimPrefix(place, "share/systemd/")
		case debian:
			place = strings.Replace(place, "share/zsh/site-functions/", "share/zsh/vendor-completions/", 1)
		}
		list = append(list, &files.Content{
			Source: f.source, Destination: "/usr/" + place,
			FileInfo: &files.ContentFileInfo{Mode: f.mode, MTime: r.made, Owner: "root", Group: "root"},
		})
	}
	return list, nil
}

// compressed is the compressed copy of a file.
func (r *release) compressed(path string) (string, error) {
	to := filepath.Join(r.work, "man", filepath.Base(path)+".gz")
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(text); err != nil {
		return "", err
	}
	if err := errors.Join(z.Close(), os.MkdirAll(filepath.Dir(to), 0o755)); err != nil {
		return "", err
	}
	return to, os.WriteFile(to, packed.Bytes(), 0o644)
}
