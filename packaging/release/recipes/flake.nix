# The flake of podd <<.Version>>: nix run path/to/this/directory -- demo
{
  description = "podd, a daemon that hosts LLM agents";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      archives = {
<<- with index .Sum "linux-amd64">>
        x86_64-linux = { name = "linux-amd64"; sha256 = "<<.>>"; };
<<- end>>
<<- with index .Sum "linux-arm64">>
        aarch64-linux = { name = "linux-arm64"; sha256 = "<<.>>"; };
<<- end>>
<<- with index .Sum "darwin-amd64">>
        x86_64-darwin = { name = "darwin-amd64"; sha256 = "<<.>>"; };
<<- end>>
<<- with index .Sum "darwin-arm64">>
        aarch64-darwin = { name = "darwin-arm64"; sha256 = "<<.>>"; };
<<- end>>
      };
    in {
      packages = builtins.mapAttrs (system: archive:
        let pkgs = nixpkgs.legacyPackages.${system}; in {
          default = pkgs.stdenv.mkDerivation {
            pname = "podd";
            version = "<<.Version>>";
            src = pkgs.fetchurl {
              url = "<<.URL>>/podd-<<.Version>>-${archive.name}.tar.gz";
              inherit (archive) sha256;
            };
            # The programs are static: nothing is to be patched.
            dontFixup = true;
            installPhase = "mkdir -p $out && cp -r bin share $out/";
            meta.mainProgram = "podd";
          };
        }) archives;
    };
}
