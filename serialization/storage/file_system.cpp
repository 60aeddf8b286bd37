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

result<std::string> read_whole(file_system& files, const std::string& path, uint64_t max_bytes) {
  TROUPE_ASSIGN(auto file, files.open(path));
  if (file->size() > max_bytes)
    return failure(error_kind::resource_exhausted, path, ": has ", file->size(),
                   " bytes, but at most ", max_bytes, " are read at once");
  std::string content(file->size(), '\0');
  TROUPE_TRY(file->read(0, std::as_writable_bytes(std::span{content})));
  return content;
}

status make_folder_durably(file_system& files, const std::string& path) {
  std::vector<std::string> created; // the innermost first
  for (auto folder = path; !files.inspect(folder).ok() && folder != folder_of(folder);
       folder = folder_of(folder))
    created.push_back(folder);
  auto outcome = files.make_folder(path);
  for (auto folder = created.rbegin(); outcome.ok() && folder != created.rend(); ++folder)
    outcome = files.sync_folder(folder_of(*folder));
  if (!outcome)
    for (const auto& folder : created) // else the next attempt would assume that they are synced
      (void)files.remove(folder);
  return outcome;
}

status replace_file(file_system& files, const std::string& path, std::string_view content,
                    std::string_view suffix) {
  auto temporary = concat(path, suffix);
  auto written = [&]() -> status {
    TROUPE_ASSIGN(auto file, files.create(temporary));
    TROUPE_TRY(file->append(content));
    return file->sync();
  }();
  if (!written) {
    // A file whose sync failed is not reused: a later sync of it may report success without data.
    (void)files.remove(temporary);
    return written;
  }
  TROUPE_TRY(files.rename(temporary, path));
  return files.sync_folder(folder_of(path));
}

} // namespace troupe
