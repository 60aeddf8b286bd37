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

status replace_file(file_system& files, const std::string& path, std::string_view content,
                    std::string_view meanwhile) {
  auto made = concat(path, meanwhile);
  {
    TROUPE_ASSIGN(auto file, files.create(made));
    TROUPE_TRY(file->append(content));
    TROUPE_TRY(file->sync());
  }
  TROUPE_TRY(files.rename(made, path));
  return files.sync_folder(folder_of(path));
}

} // namespace troupe
