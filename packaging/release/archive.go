package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// archives makes podd-VERSION-OS-ARCH.tar.gz for each target. Its files can be copied to a
// prefix as they are; share/podd/files lists them, for who removes them. Units are left out:
// `podd service install` writes those with the right path.
func (r *release) archives(context.Context) error {
	for _, b := range r.built {
		name := "podd-" + r.number() + "-" + b.os + "-" + b.arch
		files, err := r.listed(b.without("share/systemd/"))
		if err != nil {
			return err
		}
		out, err := os.Create(r.file(name + ".tar.gz"))
		if err != nil {
			return err
		}
		z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
		if err != nil {
			return err
		}
		if err := errors.Join(r.pack(z, name+"/", files), z.Close(), out.Close()); err != nil {
			return err
		}
	}
	return nil
}

// listed is the files and a list of all of them, a place a line.
func (r *release) listed(files []file) ([]file, error) {
	list := file{"share/podd/files", filepath.Join(r.work, "files.txt"), 0o644}
	files = append(files, list)
	var text strings.Builder
	for _, f := range files {
		text.WriteString(f.place + "\n")
	}
	return files, os.WriteFile(list.source, []byte(text.String()), 0o644)
}

// without is the files but those below a place.
func (b built) without(place string) (files []file) {
	for _, f := range b.files {
		if !strings.HasPrefix(f.place, place) {
			files = append(files, f)
		}
	}
	return files
}

// pack writes files to a tar, below a prefix that ends with a slash or is empty.
func (r *release) pack(to io.Writer, prefix string, files []file) error {
	w := tar.NewWriter(to)
	made := map[string]bool{}
	for _, f := range files {
		if err := r.parents(w, prefix+f.place, made); err != nil {
			return err
		}
		if err := r.add(w, prefix, f); err != nil {
			return err
		}
	}
	return w.Close()
}

// parents writes the directories above a file that are not there yet.
func (r *release) parents(w *tar.Writer, path string, made map[string]bool) error {
	for i, c := range path {
		if c != '/' || made[path[:i]] {
			continue
		}
		made[path[:i]] = true
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path[:i+1], Mode: 0o755, ModTime: r.made}); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) add(w *tar.Writer, prefix string, f file) error {
	in, err := os.Open(f.source)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	header := tar.Header{Typeflag: tar.TypeReg, Name: prefix + f.place, Mode: int64(f.mode), Size: info.Size(), ModTime: r.made}
	if err := w.WriteHeader(&header); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}
