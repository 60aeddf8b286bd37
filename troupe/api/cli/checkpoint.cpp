// troupe checkpoint: what checkpoints hold, whether they are whole, and what two differ in.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/error.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"
#include "troupe/serialization/storage/checksum.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <memory>
#include <set>

namespace troupe::cli {
namespace {

// A checkpoint, or the latest of a folder of them.
checkpoint_reader open_checkpoint(const std::string& path) {
  auto& files = real_files();
  if (files.inspect(path_in(path, "manifest.json")).ok())
    return value_or_throw(checkpoint_reader::open(files, path));
  checkpoint_folder of{files, path};
  return value_or_throw(checkpoint_reader::open(files, of.path_of(value_or_throw(of.latest()))));
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
    std::cout << one.name << "  step " << one.step << "  " << manifest.tensors.size()
              << " tensors  " << bytes_of(manifest) << " bytes"
              << (latest && *latest == one.name ? "  latest" : "") << '\n';
  }
}

void show_checkpoint(const std::string& path) {
  auto what = open_checkpoint(path);
  const auto& of = what.manifest();
  std::cout << what.path() << ": step " << of.step << ", " << of.tensors.size() << " tensors of "
            << bytes_of(of) << " bytes\n";
  for (const auto& [key, value] : of.made)
    std::cout << "  " << key << ": " << value << '\n';
  for (const auto& one : of.tensors) {
    std::cout << "  " << one.name << "  " << one.type << one.dims;
    if (one.slice) {
      std::cout << " of " << one.slice->whole << " at";
      for (auto at : one.slice->offset)
        std::cout << ' ' << at;
    }
    std::cout << "  " << one.bytes << " bytes  " << hex_text(one.checksum) << '\n';
  }
}

void verify(const std::string& path) {
  auto what = open_checkpoint(path);
  throw_if_failed(what.verify());
  std::cout << what.path() << ": all " << what.manifest().tensors.size()
            << " tensors are as they were saved\n";
}

// Says how many differences there are.
int diff(const std::string& left, const std::string& right) {
  auto a = open_checkpoint(left), b = open_checkpoint(right);
  std::set<std::string> names;
  for (const auto* each : {&a, &b})
    for (const auto& one : each->manifest().tensors)
      names.insert(one.name);
  int differences = 0;
  auto print = [&](const auto&... parts) {
    ++differences;
    std::cout << concat(parts...) << '\n';
  };
  for (const auto& name : names) {
    auto of_a = a.find(name), of_b = b.find(name);
    if (!of_a || !of_b)
      print(name, ": only in ", of_a ? a.path() : b.path());
    else if (*of_a != *of_b)
      print(name, ": ", of_a->first, of_a->second, " and ", of_b->first, of_b->second);
    else if (auto x = value_or_throw(a.read(name)), y = value_or_throw(b.read(name));
             x.type() == dtype::string
                 ? !std::ranges::equal(x.values<std::string>(), y.values<std::string>())
                 : std::memcmp(x.raw(), y.raw(), x.bytes()) != 0)
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
  const char* either = "A checkpoint, or a folder of them: its latest";
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
