// troupe checkpoint: what checkpoints hold, whether they are whole, and what two differ in.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/error.hpp"
#include "troupe/runtime/types/printable.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"
#include "troupe/serialization/checkpoint/tensor_files.hpp"
#include "troupe/serialization/storage/checksum.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

namespace troupe::cli {
namespace {

tensor_files open_any(const std::string& path) {
  return value_or_throw(tensor_files::open(real_files(), path));
}

uint64_t bytes_of(const checkpoint_manifest& what) {
  uint64_t all = 0;
  for (const auto& one : what.tensors)
    all += one.bytes;
  return all;
}

void list_checkpoints(const std::string& path) {
  checkpoint_folder of{real_files(), path};
  auto latest = of.latest();
  for (const auto& one : value_or_throw(of.list())) {
    auto manifest =
        value_or_throw(read_manifest(real_files(), path_in(of.path_of(one.name), "manifest.json")));
    auto metric = manifest.made.find(std::string{metric_key});
    std::cout << printable(one.name) << "  step " << one.step << "  " << manifest.tensors.size()
              << " tensors  " << bytes_of(manifest) << " bytes  metric "
              << (metric == manifest.made.end() ? "-" : printable(metric->second))
              << (latest && *latest == one.name ? "  latest" : "") << '\n';
  }
}

// What others have written has no manifest.
void show_tensors(const tensor_files& what) {
  std::cout << printable(what.path()) << ": " << what.format() << ", " << what.tensors().size()
            << " tensors\n";
  for (const auto& one : what.tensors())
    if (one.type == dtype::none)
      std::cout << "  " << printable(one.name) << '\n';
    else
      std::cout << "  " << printable(one.name) << "  " << one.type << one.dims << '\n';
}

void show_checkpoint(const std::string& path) {
  auto& files = real_files();
  auto opened = open_any(path);
  if (!files.inspect(path_in(opened.path(), "manifest.json")).ok())
    return show_tensors(opened);
  auto what = value_or_throw(checkpoint_reader::open(files, opened.path()));
  const auto& of = what.manifest();
  std::cout << printable(what.path()) << ": step " << of.step << ", " << of.tensors.size()
            << " tensors of " << bytes_of(of) << " bytes\n";
  for (const auto& [key, value] : of.made)
    std::cout << "  " << printable(key) << ": " << printable(value) << '\n';
  for (const auto& one : of.tensors) {
    std::cout << "  " << printable(one.name) << "  " << one.type << one.dims;
    if (one.slice) {
      std::cout << " of " << one.slice->whole << " at";
      for (auto at : one.slice->offset)
        std::cout << ' ' << at;
    }
    std::cout << "  " << one.bytes << " bytes  " << hex_text(one.checksum) << '\n';
  }
}

void verify(const std::string& path) {
  auto what = open_any(path);
  throw_if_failed(what.verify());
  std::cout << printable(what.path()) << ": all " << what.tensors().size()
            << " tensors are as they were saved\n";
}

// Says how many differences there are.
int diff(const std::string& left, const std::string& right) {
  auto a = open_any(left), b = open_any(right);
  std::set<std::string> names;
  for (const auto* each : {&a, &b})
    for (const auto& one : each->tensors())
      names.insert(one.name);
  int differences = 0;
  auto print = [&](const auto&... parts) {
    ++differences;
    std::cout << printable(concat(parts...)) << '\n';
  };
  for (const auto& name : names) {
    if (!a.find(name) || !b.find(name)) {
      print(name, ": only in ", a.find(name) ? a.path() : b.path());
      continue;
    }
    auto x = value_or_throw(a.read(name)), y = value_or_throw(b.read(name));
    if (x.type() != y.type() || x.dims() != y.dims())
      print(name, ": ", x.type(), x.dims(), " and ", y.type(), y.dims());
    else if (!identical(x, y))
      print(name, ": other values");
  }
  if (differences == 0)
    std::cout << "equal: " << names.size() << " tensors\n";
  return differences;
}

} // namespace

void add_checkpoint(CLI::App& to, int& exit_code) {
  struct options {
    std::string path, other;
  };
  auto chosen = std::make_shared<options>();
  auto* command = to.add_subcommand("checkpoint", "Look at checkpoints");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* doc, const char* what) {
    auto* one = command->add_subcommand(name, doc);
    one->add_option("path", chosen->path, what)->required();
    return one;
  };
  const char* either =
      "A checkpoint, or a folder of them: its latest; or a .safetensors or .npz "
      "file, the prefix or any file of a checkpoint of TensorFlow, or a SavedModel";
  add("ls", "List the complete checkpoints of a folder", "The folder")->callback([chosen] {
    list_checkpoints(chosen->path);
  });
  add("show", "List the tensors of a checkpoint", either)->callback([chosen] {
    show_checkpoint(chosen->path);
  });
  add("verify", "Read a checkpoint and compare all checksums", either)->callback([chosen] {
    verify(chosen->path);
  });
  auto* two = add("diff", "Say what two checkpoints differ in; fails if they do", either);
  two->add_option("other", chosen->other, either)->required();
  two->callback([chosen, &exit_code] {
    if (diff(chosen->path, chosen->other) > 0)
      exit_code = 1;
  });
}

} // namespace troupe::cli
