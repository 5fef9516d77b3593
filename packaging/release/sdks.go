package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// sdks makes the packages of sdk: podd-VERSION.tgz for npm, and a wheel for pip.
func (r *release) sdks(ctx context.Context) error {
	if err := r.npm(ctx); err != nil {
		return fmt.Errorf("sdk/typescript: %w", err)
	}
	if err := r.wheel(ctx); err != nil {
		return fmt.Errorf("sdk/python: %w", err)
	}
	return nil
}

// npm makes what npm pack would make.
func (r *release) npm(ctx context.Context) error {
	const sdk, types = "sdk/typescript", "internal/web/page/types.d.ts"
	if err := r.command(ctx, "make", "-s", sdk+"/node_modules").Run(); err != nil {
		return err
	}
	// Only the sources: tests and examples import the package by its name, and so need one that was built in place.
	dist := filepath.Join(r.work, "typescript")
	if err := r.command(ctx, "node", sdk+"/node_modules/typescript/bin/tsc", "-p", sdk+"/tsconfig.release.json", "--outDir", dist).Run(); err != nil {
		return err
	}
	var packed []file
	for _, dir := range []string{sdk + "/src", "internal"} {
		files, err := below(filepath.Join(dist, dir), "dist/"+dir)
		if err != nil {
			return err
		}
		packed = append(packed, files...)
	}
	text, err := os.ReadFile(sdk + "/package.json")
	if err != nil {
		return err
	}
	manifest := filepath.Join(r.work, "package.json")
	if err := os.WriteFile(manifest, bytes.Replace(text, []byte(`"version": "0.0.0"`), []byte(`"version": "`+r.number()+`"`), 1), 0o644); err != nil {
		return err
	}
	packed = append(packed, file{"dist/" + types, types, 0o644}, file{"package.json", manifest, 0o644}, file{"README.md", sdk + "/README.md", 0o644}, file{"LICENSE", "LICENSE", 0o644})
	out, err := os.Create(r.file("podd-" + r.number() + ".tgz"))
	if err != nil {
		return err
	}
	z := gzip.NewWriter(out)
	return errors.Join(r.pack(z, "package/", packed), z.Close(), out.Close())
}

// pythonic is a version that Python has a form for.
var pythonic = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?$`)

// pythonVersion is the version as Python writes it, such as 0.1.0rc1.
func pythonVersion(number string) (string, error) {
	m := pythonic.FindStringSubmatch(number)
	if m == nil {
		return "", fmt.Errorf("v%s is no version for Python; set VERSION to one such as v0.1.0 or v0.1.0-rc.1", number)
	}
	return m[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[m[2]] + m[3], nil
}

// wheel makes what pip installs: a zip of the files, and what RECORD and METADATA say of them.
func (r *release) wheel(ctx context.Context) error {
	version, err := pythonVersion(r.number())
	if err != nil {
		return err
	}
	known, err := output(ctx, "git", "ls-files", "sdk/python/podd")
	if err != nil {
		return err
	}
	metadata, err := wheelMetadata(version)
	if err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	out, err := os.Create(r.file("podd-" + version + "-py3-none-any.whl"))
	if err != nil {
		return err
	}
	defer out.Close()
	z := zip.NewWriter(out)
	info := "podd-" + version + ".dist-info/"
	var record strings.Builder
	add := func(name string, text []byte) error {
		sum := sha256.Sum256(text)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		return r.zipped(z, name, text)
	}
	for path := range strings.SplitSeq(known, "\n") {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := add(strings.TrimPrefix(path, "sdk/python/"), text); err != nil {
			return err
		}
	}
	wheel := []byte("Wheel-Version: 1.0\nGenerator: make release\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
	if err := errors.Join(add(info+"LICENSE", license), add(info+"METADATA", metadata), add(info+"WHEEL", wheel)); err != nil {
		return err
	}
	record.WriteString(info + "RECORD,,\n")
	return errors.Join(r.zipped(z, info+"RECORD", []byte(record.String())), z.Close(), out.Close())
}

func (r *release) zipped(z *zip.Writer, name string, text []byte) error {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.made}
	header.SetMode(0o644)
	w, err := z.CreateHeader(header)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// wheelMetadata is what pip reads of pyproject.toml and the README.
func wheelMetadata(version string) ([]byte, error) {
	text, err := os.ReadFile("sdk/python/pyproject.toml")
	if err != nil {
		return nil, err
	}
	var of struct {
		Project struct {
			Name, Description, License string
			Python                     string `toml:"requires-python"`
			Dependencies               []string
		}
	}
	if err := toml.Unmarshal(text, &of); err != nil {
		return nil, fmt.Errorf("pyproject.toml: %w", err)
	}
	readme, err := os.ReadFile("sdk/python/README.md")
	if err != nil {
		return nil, err
	}
	p := of.Project
	var b bytes.Buffer
	fmt.Fprintf(&b, "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: %s\nRequires-Python: %s\n", p.Name, version, p.Description, p.License, p.Python)
	for _, d := range p.Dependencies {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", d)
	}
	fmt.Fprintf(&b, "Description-Content-Type: text/markdown\n\n%s", readme)
	return b.Bytes(), nil
}
