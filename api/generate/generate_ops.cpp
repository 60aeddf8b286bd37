// Generates files from the op definitions, in the tree ROOT: the C++ builders
// (api/generated/ops.hpp and .cpp) and the reference (docs/ops/).
//   generate_ops write ROOT    also removes pages of families that no longer exist
//   generate_ops check ROOT    fails if a file is not up to date
#include "troupe/api/generate/builders.hpp"
#include "troupe/api/generate/reference.hpp"
#include "troupe/ops/all.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace {

struct generated_file {
  std::string path, content;
};

std::string content_of(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return (std::ostringstream{} << in.rdbuf()).str();
}

void write(const generated_file& file) {
  std::filesystem::create_directories(std::filesystem::path{file.path}.parent_path());
  std::ofstream out{file.path, std::ios::binary};
  out << file.content << std::flush;
  if (!out)
    throw std::runtime_error{"cannot write " + file.path};
}

std::vector<generated_file> generated_files(const troupe::registry& ops, const std::string& root) {
  std::vector<generated_file> files{
      {root + "/api/generated/ops.hpp", troupe::generate::builders_header(ops.ops())},
      {root + "/api/generated/ops.cpp", troupe::generate::builders_source(ops.ops())}};
  for (auto& page : troupe::generate::reference(ops))
    files.push_back({root + "/docs/ops/" + page.file_name, std::move(page.content)});
  return files;
}

// Returns the files in `folder` that are not among `files`.
std::vector<std::string> other_files(const std::string& folder,
                                     const std::vector<generated_file>& files) {
  std::vector<std::string> paths;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator{folder})
      if (auto path = folder + '/' + entry.path().filename().string();
          std::ranges::find(files, path, &generated_file::path) == files.end())
        paths.push_back(path);
  return paths;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 2 || (arguments[0] != "write" && arguments[0] != "check")) {
    std::cerr << "usage: generate_ops write|check ROOT\n";
    return 2;
  }
  troupe::registry ops;
  for (const auto* op : troupe::ops::all_ops())
    if (auto added = ops.add(*op); !added)
      throw std::runtime_error{added.message()};
  const auto& root = arguments[1];
  auto writes = arguments[0] == "write";
  auto files = generated_files(ops, root);
  int stale = 0;
  auto report = [&](const std::string& path, const char* problem) {
    std::cerr << path << problem << "; regenerate it with\n"
              << "  cmake --build --preset default --target generate\n";
    stale = 1;
  };
  for (const auto& file : files) {
    if (content_of(file.path) == file.content)
      continue;
    if (writes)
      write(file);
    else
      report(file.path, " does not match the op definitions");
  }
  for (const auto& path : other_files(root + "/docs/ops", files)) {
    if (writes)
      std::filesystem::remove(path);
    else
      report(path, " is not a page of the reference");
  }
  return stale;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "generate_ops: " << e.what() << '\n';
    return 1;
  }
}
