package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// debian is what the image's lower layer is made of.
	debian = "trixie"
	// tools are what pods need beside a shell: the sandbox, git, and the certificates of model APIs.
	// tini is the first process: it reaps what commands leave behind.
	tools = "bubblewrap,ca-certificates,git,tini"
	// state is where the image keeps podd's state and socket.
	state = "/var/lib/podd"
)

// container makes an OCI image layout for the processor of this machine, as a tar: one layer is a
// small Debian, one is podd. Other processors' Debian can't be unpacked here.
func (r *release) container(ctx context.Context) error {
	if !r.image {
		return nil
	}
	own := r.built[slices.IndexFunc(r.built, func(b built) bool { return b.os == "linux" && b.arch == runtime.GOARCH })]
	base, podd := filepath.Join(r.work, "debian.tar"), filepath.Join(r.work, "podd.tar")
	if err := r.debian(ctx, base); err != nil {
		return fmt.Errorf("a Debian with mmdebstrap: %w", err)
	}
	if err := r.packFile(podd, "usr/", own.without("share/systemd/")); err != nil {
		return err
	}
	image, err := r.layers(base, podd)
	if err != nil {
		return err
	}
	dir := filepath.Join(r.work, "oci")
	index, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	// Podman reads the first name, containerd the second, and older Docker manifest.json.
	name := "podd:" + r.number()
	if err := index.AppendImage(image, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": name, "io.containerd.image.name": "docker.io/library/" + name,
	})); err != nil {
		return err
	}
	if err := writeManifest(filepath.Join(dir, "manifest.json"), name, image); err != nil {
		return err
	}
	files, err := below(dir, "")
	if err != nil {
		return err
	}
	return r.packFile(r.file("podd-"+r.number()+"-oci-"+runtime.GOARCH+".tar"), "", files)
}

// writeManifest writes what docker load reads beside an OCI layout.
func writeManifest(path, name string, image v1.Image) error {
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
	of := tarball.Descriptor{Config: blob(manifest.Config.Digest), RepoTags: []string{name}}
	for _, layer := range manifest.Layers {
		of.Layers = append(of.Layers, blob(layer.Digest))
	}
	text, err := json.Marshal(tarball.Manifest{of})
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// debian writes a Debian as a tar, without what no pod reads.
func (r *release) debian(ctx context.Context, to string) error {
	return r.command(ctx, "mmdebstrap", "--quiet", "--variant=minbase", "--include="+tools,
		"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
		`--customize-hook=rm -rf "$1"/var/log/* "$1"/var/cache/* "$1"/etc/hostname "$1"/etc/resolv.conf; mkdir -p "$1"`+state+` "$1/work"`,
		debian, to, "http://deb.debian.org/debian").Run()
}

func (r *release) layers(paths ...string) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, path := range paths {
		layer, err := tarball.LayerFromFile(path, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.made}, CreatedBy: filepath.Base(path)}}); err != nil {
			return nil, err
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", runtime.GOARCH, v1.Time{Time: r.made}
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/tini", "--", "/usr/bin/podd"},
		Env:        []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + state, "XDG_RUNTIME_DIR=" + state + "/run"},
		WorkingDir: "/work",
		Volumes:    map[string]struct{}{state: {}, "/work": {}},
		Labels: map[string]string{"org.opencontainers.image.version": r.number(), "org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.title": "podd"},
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/usr/bin/podctl", "status"}, Interval: 30 * time.Second, Timeout: 5 * time.Second},
	}
	return mutate.ConfigFile(image, config)
}

func (r *release) packFile(path, prefix string, files []file) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(r.pack(out, prefix, files), out.Close())
}
