#include "troupe/serialization/arrays/npz.hpp"

#include "troupe/serialization/arrays/npy.hpp"
#include "troupe/serialization/arrays/npy_header.hpp"

#include <algorithm>

namespace troupe {

constexpr std::string_view npy_ending = ".npy";
constexpr uint64_t max_header_bytes = uint64_t{1} << 17; // more than any array without records has

result<npz_reader> npz_reader::open(file_system& files, const std::string& path) {
  TROUPE_ASSIGN(auto archive, zip_reader::open(files, path));
  return npz_reader{std::move(archive)};
}

std::vector<std::string> npz_reader::names() const {
  std::vector<std::string> array_names;
  for (const auto& entry : archive_.entries())
    if (entry.name.ends_with(npy_ending))
      array_names.push_back(entry.name.substr(0, entry.name.size() - npy_ending.size()));
  return array_names;
}

result<const zip_entry*> npz_reader::find(std::string_view name) const {
  auto entry = std::ranges::find(archive_.entries(), concat(name, npy_ending), &zip_entry::name);
  if (entry == archive_.entries().end())
    return failure(error_kind::not_found, archive_.path(), ": has no array '", name, "'");
  return &*entry;
}

result<std::pair<dtype, shape>> npz_reader::describe(std::string_view name) const {
  TROUPE_ASSIGN(const auto* entry, find(name));
  TROUPE_ASSIGN(auto beginning, archive_.read_beginning(*entry, max_header_bytes));
  auto header = npy_header::parse(std::as_bytes(std::span{beginning}));
  if (!header)
    return header.status().with_context(concat(archive_.path(), ": array '", name, "'"));
  return std::pair{header->element.type, header->dims};
}

result<tensor> npz_reader::read(std::string_view name) const {
  TROUPE_ASSIGN(const auto* entry, find(name));
  TROUPE_ASSIGN(auto content, archive_.read(*entry));
  auto value = read_npy(std::as_bytes(std::span{content}));
  if (!value)
    return value.status().with_context(concat(archive_.path(), ": array '", name, "'"));
  return value;
}

status write_npz(file_system& files, const std::string& path,
                 std::span<const std::pair<std::string, tensor>> arrays, bool deflate) {
  TROUPE_ASSIGN(auto writer, zip_writer::create(files, path));
  for (const auto& [name, value] : arrays) {
    auto content = write_npy(value);
    if (!content)
      return content.status().with_context(concat(path, ": array '", name, "'"));
    TROUPE_TRY(writer.add(concat(name, npy_ending), *content, deflate));
  }
  return writer.finish();
}

} // namespace troupe
