package checkout

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"podd/pkg/item"
)

// persons are settings of the person for a repository whose names, in lower case, match.
func (all *Checkouts) persons(ctx context.Context, c command, names string) (pairs [][2]string, err error) {
	c.args, c.person = append(c.args, "config", "-z", "--get-regexp", names), true
	// They may be where a sandbox has something else, such as below /tmp.
	for _, dir := range []string{all.Home, variable(all.environ(), "XDG_CONFIG_HOME"), filepath.Dir(variable(all.environ(), "GIT_CONFIG_GLOBAL"))} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
			c.reads = append(slices.Clone(c.reads), dir)
		}
	}
	out, err := all.git(ctx, c)
	if failed, ok := errors.AsType[*failure](err); ok && exitedWith(failed.err, 1) {
		err = nil // No filter is set.
	}
	for _, entry := range fields(out) {
		name, value, has := strings.Cut(entry, "\n")
		if !has {
			value = "true"
		}
		pairs = append(pairs, [2]string{name, value})
	}
	return pairs, err
}

// conversions are settings by which git compares and writes the files of a person's working tree as
// it does for them, but for the programs of filters, which it does not run.
func (all *Checkouts) conversions(ctx context.Context, top string, reads []string) ([][2]string, error) {
	pairs, err := all.persons(ctx, command{dir: top, reads: reads}, `^(core\.(autocrlf|eol|attributesfile)|filter\..*)$`)
	if err != nil {
		return nil, err
	}
	use := [][2]string{{"core.safecrlf", "false"}}
	for _, p := range pairs {
		switch {
		case strings.HasSuffix(p[0], ".required"):
			p[1] = "false"
		case strings.HasPrefix(p[0], "filter."):
			p[1] = ""
		}
		use = append(use, p)
	}
	return append(use, [2]string{"core.attributesfile", all.attributesFile(pairs)}), nil
}

// attributesFile is the person's file of attributes for all repositories.
func (all *Checkouts) attributesFile(pairs [][2]string) string {
	file := filepath.Join(cmp.Or(variable(all.environ(), "XDG_CONFIG_HOME"), filepath.Join(all.Home, ".config")), "git", "attributes")
	for _, p := range pairs {
		if p[0] == "core.attributesfile" {
			file = p[1]
		}
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(all.Home, rest)
	}
	return file
}

// filtersScript says which filters commits give to paths.
const filtersScript = `set -e
GIT_INDEX_FILE="${TMPDIR:-/tmp}/index"; export GIT_INDEX_FILE
cat >"${TMPDIR:-/tmp}/paths"
for commit; do
	git read-tree "$commit"
	git check-attr --cached -z --stdin filter <"${TMPDIR:-/tmp}/paths"
done`

// filtered names those of some paths that git stores through a filter, as c looks at them.
func (all *Checkouts) filtered(ctx context.Context, c command, paths []string) (found []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	if c.script == "" {
		c.args = []string{"check-attr", "-z", "--stdin", "filter"}
	}
	c.stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := all.git(ctx, c)
	parts := fields(out)
	for i := 0; i+2 < len(parts); i += 3 {
		if name := parts[i+2]; name != "unspecified" && name != "unset" && name != "set" {
			found = append(found, parts[i])
		}
	}
	slices.Sort(found)
	return slices.Compact(found), err
}

// unfiltered refuses a landing of files that git stores through a filter: the checkout has them as they
// are stored, and what a pod writes there never went through it.
func (w *lander) unfiltered(ctx context.Context, l Landing) error {
	if err := w.look(ctx, l); err != nil {
		return err
	}
	var paths []string
	for _, c := range w.changes {
		if c.kind != "D" {
			paths = append(paths, c.path)
		}
	}
	in := command{dir: w.r.Source, reads: w.r.sees(), config: w.config, script: filtersScript, args: []string{l.Old, l.New}}
	found, err := w.filtered(ctx, in, paths)
	if err != nil || len(found) == 0 {
		return err
	}
	return item.Errorf(item.KindPrecondition, "FILTERED_FILES",
		"git stores %s through a filter, such as that of git-lfs or git-crypt, which podd does not run; nothing was landed: take back the pod's changes of these files in %s, and make them yourself", named(found), w.r.Dir())
}

// Filtered are those of some paths that git stores through a filter, in the source or in the checkout.
func (all *Checkouts) Filtered(ctx context.Context, r *Record, paths []string) (found []string, err error) {
	config, err := all.conversions(ctx, r.Source, r.sees())
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{r.Source, r.Dir()} {
		more, err := all.filtered(ctx, command{dir: dir, reads: r.sees(), config: config}, paths)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// ownAttributes gives a new repository what the person's says about files without committing it.
func ownAttributes(making string, s source) error {
	says, err := s.file("info/attributes")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	info := filepath.Join(making, ".git", "info")
	return errors.Join(err, os.MkdirAll(info, 0o700), os.WriteFile(filepath.Join(info, "attributes"), says, 0o600))
}
