// troupe checkpoint: lists, verifies and compares checkpoints.
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

uint64_t bytes_of(const checkpoint_manifest& manifest) {
  uint64_t total = 0;
  for (const auto& entry : manifest.tensors)
    total += entry.bytes;
  return total;
}

void list_checkpoints(const std::string& path) {
  checkpoint_folder folder{real_files(), path};
  auto latest = folder.latest();
  for (const auto& checkpoint : value_or_throw(folder.list())) {
    auto manifest = value_or_throw(
        read_manifest(real_files(), path_in(folder.path_of(checkpoint.name), "manifest.json")));
    auto metric = manifest.description.find(std::string{metric_key});
    std::cout << printable(checkpoint.name) << "  step " << checkpoint.step << "  "
              << manifest.tensors.size() << " tensors  " << bytes_of(manifest) << " bytes  metric "
              << (metric == manifest.description.end() ? "-" : printable(metric->second))
              << (latest && *latest == checkpoint.name ? "  latest" : "") << '\n';
  }
}

// Lists the tensors of files of other formats, which have no manifest.
void show_tensors(const tensor_files& files) {
  std::cout << printable(files.path()) << ": " << files.format() << ", " << files.tensors().size()
            << " tensors\n";
  for (const auto& entry : files.tensors())
    if (entry.type == dtype::none)
      std::cout << "  " << printable(entry.name) << '\n';
    else
      std::cout << "  " << printable(entry.name) << "  " << entry.type << entry.dims << '\n';
}

void show_checkpoint(const std::string& path) {
  auto& files = real_files();
  auto opened = open_any(path);
  if (!files.inspect(path_in(opened.path(), "manifest.json")).ok())
    return show_tensors(opened);
  auto checkpoint = value_or_throw(checkpoint_reader::open(files, opened.path()));
  const auto& manifest = checkpoint.manifest();
  std::cout << printable(checkpoint.path()) << ": step " << manifest.step << ", "
            << manifest.tensors.size() << " tensors of " << bytes_of(manifest) << " bytes\n";
  for (const auto& [key, value] : manifest.description)
    std::cout << "  " << printable(key) << ": " << printable(value) << '\n';
  for (const auto& entry : manifest.tensors) {
    std::cout << "  " << printable(entry.name) << "  " << entry.type << entry.dims;
    if (entry.slice) {
      std::cout << " of " << entry.slice->full_shape << " at";
      for (auto offset : entry.slice->offset)
        std::cout << ' ' << offset;
    }
    std::cout << "  " << entry.bytes << " bytes  " << to_hex(entry.checksum) << '\n';
  }
}

void verify(const std::string& path) {
  auto files = open_any(path);
  throw_if_failed(files.verify());
  std::cout << printable(files.path()) << ": all " << files.tensors().size()
            << " tensors are as they were saved\n";
}

// Prints the differences of two checkpoints, and returns their number.
int diff(const std::string& left, const std::string& right) {
  auto a = open_any(left), b = open_any(right);
  std::set<std::string> names;
  for (const auto* files : {&a, &b})
    for (const auto& entry : files->tensors())
      names.insert(entry.name);
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

void add_checkpoint(CLI::App& app, int& exit_code) {
  struct options {
    std::string path, other;
  };
  auto chosen = std::make_shared<options>();
  auto* command = app.add_subcommand("checkpoint", "List, verify and compare checkpoints");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* doc, const char* help) {
    auto* subcommand = command->add_subcommand(name, doc);
    subcommand->add_option("path", chosen->path, help)->required();
    return subcommand;
  };
  const char* help = "A checkpoint, or a folder of them: its latest; or a .safetensors or .npz "
                     "file, the prefix or any file of a checkpoint of TensorFlow, or a SavedModel";
  add("ls", "List the complete checkpoints of a folder", "The folder")->callback([chosen] {
    list_checkpoints(chosen->path);
  });
  add("show", "List the tensors of a checkpoint", help)->callback([chosen] {
    show_checkpoint(chosen->path);
  });
  add("verify", "Read a checkpoint and compare all checksums", help)->callback([chosen] {
    verify(chosen->path);
  });
  auto* comparison =
      add("diff", "Print the differences of two checkpoints; fails if there are any", help);
  comparison->add_option("other", chosen->other, help)->required();
  comparison->callback([chosen, &exit_code] {
    if (diff(chosen->path, chosen->other) > 0)
      exit_code = 1;
  });
}

} // namespace troupe::cli
