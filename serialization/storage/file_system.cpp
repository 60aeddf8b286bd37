#include "troupe/serialization/storage/file_system.hpp"

namespace troupe {

std::string folder_of(std::string_view path) {
  auto slash = path.rfind('/');
  if (slash == path.npos)
    return ".";
  return std::string{path.substr(0, slash == 0 ? 1 : slash)};
}

std::string_view name_of_file(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

std::string path_in(std::string_view folder, std::string_view name) {
  if (folder.empty())
    return std::string{name};
  return concat(folder, folder.ends_with('/') ? "" : "/", name);
}

result<std::string> read_whole(file_system& files, const std::string& path, uint64_t most) {
  TROUPE_ASSIGN(auto file, files.open(path));
  if (file->size() > most)
    return failure(error_kind::resource_exhausted, path, ": has ", file->size(),
                   " bytes, and at most ", most, " are read at once");
  std::string content(file->size(), '\0');
  TROUPE_TRY(file->read(0, std::as_writable_bytes(std::span{content})));
  return content;
}

status make_folder_durably(file_system& files, const std::string& path) {
  std::vector<std::string> made; // the innermost first
  for (auto at = path; !files.inspect(at).ok() && at != folder_of(at); at = folder_of(at))
    made.push_back(at);
  auto outcome = files.make_folder(path);
  for (auto at = made.rbegin(); outcome.ok() && at != made.rend(); ++at)
    outcome = files.sync_folder(folder_of(*at));
  if (!outcome)
    for (const auto& one : made) // else the next attempt would take them for safe
      (void)files.remove(one);
  return outcome;
}

status replace_file(file_system& files, const std::string& path, std::string_view content,
                    std::string_view meanwhile) {
  auto made = concat(path, meanwhile);
  auto written = [&]() -> status {
    TROUPE_ASSIGN(auto file, files.create(made));
    TROUPE_TRY(file->append(content));
    return file->sync();
  }();
  if (!written) {
    // What is not known to be on the disk is not written over: a later sync may say nothing of it.
    (void)files.remove(made);
    return written;
  }
  TROUPE_TRY(files.rename(made, path));
  return files.sync_folder(folder_of(path));
}

} // namespace troupe
