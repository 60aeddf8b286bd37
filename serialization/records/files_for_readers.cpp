#include "troupe/serialization/records/files_for_readers.hpp"

#include "troupe/serialization/records/fixed_records.hpp"
#include "troupe/serialization/records/text_records.hpp"
#include "troupe/serialization/records/tfrecord.hpp"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace troupe {
namespace {

// Reads a file as a single record.
class whole_file final : public record_reader {
public:
  whole_file(file_system& files, std::string path) : files_(files), path_(std::move(path)) {}

  result<bool> next(std::string& record) override {
    if (read_)
      return false;
    TROUPE_ASSIGN(record, read_whole(files_, path_));
    read_ = true;
    return true;
  }
  std::string position() const override { return read_ ? "0 1" : "0 0"; }
  status seek(std::string_view position) override {
    if (position != "0 0" && position != "0 1")
      return invalid(path_, ": '", position, "' is not a position in this file");
    read_ = position == "0 1";
    return {};
  }

private:
  file_system& files_;
  std::string path_;
  bool read_ = false;
};

bool is_pattern(std::string_view name) { return name.find_first_of("*?[\\") != name.npos; }

class disk_access final : public file_access {
public:
  explicit disk_access(file_system& files) : files_(files) {}

  result<std::unique_ptr<record_reader>> open(const std::string& path,
                                              const record_layout& layout) override {
    auto kind = layout.compression == "GZIP"   ? compression::gzip
                : layout.compression == "ZLIB" ? compression::zlib
                                               : compression::none;
    if (kind == compression::none && !layout.compression.empty())
      return invalid(path, ": there is no compression '", layout.compression, "'");
    auto bytes = [](int64_t number) { return static_cast<uint64_t>(std::max<int64_t>(number, 0)); };
    switch (layout.format) {
      case record_format::line:
        return open_lines(files_, path, {.kind = kind, .skip = bytes(layout.skip_lines)});
      case record_format::fixed:
        return open_fixed(files_, path,
                          {.record_bytes = bytes(layout.record_bytes),
                           .head_bytes = bytes(layout.head_bytes),
                           .tail_bytes = bytes(layout.tail_bytes),
                           .kind = kind,
                           .hop_bytes = bytes(layout.hop_bytes)});
      case record_format::tfrecord: return open_tfrecord(files_, path, {.kind = kind});
      case record_format::whole: {
        TROUPE_TRY(files_.inspect(path).status());
        return std::unique_ptr<record_reader>{std::make_unique<whole_file>(files_, path)};
      }
      case record_format::none: break;
    }
    return invalid(path, ": the record format is not supported");
  }

  result<std::string> read(const std::string& path) override { return read_whole(files_, path); }

  status write(const std::string& path, std::string_view content) override {
    TROUPE_TRY(make_folder_durably(files_, folder_of(path)));
    // Two threads or processes may write the same file concurrently.
    static std::atomic<uint64_t> last_suffix{0};
    return replace_file(files_, path, content, concat('.', ::getpid(), '.', ++last_suffix, ".new"));
  }

  result<std::vector<std::string>> match(const std::string& pattern) override {
    std::vector<std::string> matches;
    TROUPE_TRY(match_in(pattern.starts_with('/') ? "/" : "", pattern, matches));
    std::ranges::sort(matches);
    return matches;
  }

private:
  // Appends the names within `folder` that match `pattern`. Recurses for each part of the path.
  status match_in(const std::string& folder, std::string_view pattern,
                  std::vector<std::string>& matches) {
    pattern.remove_prefix(std::min(pattern.find_first_not_of('/'), pattern.size()));
    auto part = std::string{pattern.substr(0, pattern.find('/'))};
    auto remainder = pattern.substr(part.size());
    if (part.empty())
      return {};
    auto visit = [&](const std::string& name, bool is_folder) -> status {
      auto path = path_in(folder, name);
      if (remainder.find_first_not_of('/') == remainder.npos) {
        matches.push_back(std::move(path));
        return {};
      }
      return is_folder ? match_in(path, remainder, matches) : status{};
    };
    if (!is_pattern(part)) {
      auto file_info = files_.inspect(path_in(folder, part));
      if (file_info)
        return visit(part, file_info->is_folder);
      return file_info.status().kind() == error_kind::not_found ? status{} : file_info.status();
    }
    auto entries = files_.list(folder.empty() ? "." : folder);
    if (!entries)
      return entries.status().kind() == error_kind::not_found ? status{} : entries.status();
    for (const auto& entry : *entries)
      if (fnmatch(part.c_str(), entry.name.c_str(), FNM_PERIOD) == 0)
        TROUPE_TRY(visit(entry.name, entry.is_folder));
    return {};
  }

  file_system& files_;
};

} // namespace

std::unique_ptr<file_access> files_for_readers(file_system& files) {
  return std::make_unique<disk_access>(files);
}

} // namespace troupe
