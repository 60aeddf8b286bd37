#include "troupe/serialization/checkpoint/checkpoint_state.hpp"

#include <optional>

namespace troupe {
namespace {

constexpr std::string_view state_file = "checkpoint", bundle_ending = ".index",
                           path_field = "model_checkpoint_path";
constexpr uint64_t longest_state = uint64_t{1} << 24; // the file lists all retained checkpoints

bool is_checkpoint(file_system& files, const std::string& prefix) {
  if (files.inspect(concat(prefix, bundle_ending)))
    return true;
  auto first_version = files.inspect(prefix);
  return first_version && !first_version->is_folder;
}

// Parses a quoted text of Protobuf's text format, with octal numbers for other bytes than ASCII.
std::optional<std::string> quoted(std::string_view text) {
  auto quote = text.empty() ? '\0' : text.front();
  if (quote != '"' && quote != '\'')
    return {};
  text.remove_prefix(1);
  std::string value;
  while (!text.empty() && text.front() != quote) {
    auto c = text.front();
    text.remove_prefix(1);
    if (c == '\\' && !text.empty()) {
      auto is_octal = [&] { return !text.empty() && text.front() >= '0' && text.front() <= '7'; };
      if (is_octal()) {
        int number = 0;
        for (int i = 0; i < 3 && is_octal(); ++i, text.remove_prefix(1))
          number = number * 8 + (text.front() - '0');
        value += static_cast<char>(number);
        continue;
      }
      c = text.front();
      text.remove_prefix(1);
    }
    value += c;
  }
  return text.empty() ? std::nullopt : std::optional{value};
}

// The path in the field model_checkpoint_path.
std::optional<std::string> named_path(std::string_view text) {
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto skip_blanks = [&] {
      line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    };
    skip_blanks();
    if (!line.starts_with(path_field))
      continue;
    line.remove_prefix(path_field.size());
    skip_blanks();
    if (!line.starts_with(':'))
      continue;
    line.remove_prefix(1);
    skip_blanks();
    return quoted(line);
  }
  return {};
}

} // namespace

result<std::string> latest_tensorflow_checkpoint(file_system& files, const std::string& folder) {
  auto state_path = path_in(folder, state_file);
  auto state = read_whole(files, state_path, longest_state);
  if (!state && state.status().kind() != error_kind::not_found)
    return state.status();
  if (state) {
    auto named = named_path(*state);
    if (!named || named->empty())
      return failure(error_kind::data_loss, state_path, ": does not name a checkpoint (",
                     path_field, ")");
    auto moved = path_in(folder, name_of_file(*named));
    auto path = named->starts_with('/') ? *named : path_in(folder, *named);
    for (const auto& prefix : {path, moved})
      if (is_checkpoint(files, prefix))
        return prefix;
    return failure(error_kind::not_found, state_path, ": names ", path,
                   ", and there is no such checkpoint, nor ", moved);
  }
  TROUPE_ASSIGN(auto entries, files.list(folder));
  std::string names;
  std::optional<std::string> last_prefix;
  size_t count = 0;
  for (const auto& entry : entries)
    if (entry.name.ends_with(bundle_ending) && !entry.is_folder) {
      last_prefix = path_in(folder, entry.name.substr(0, entry.name.size() - bundle_ending.size()));
      names += concat(names.empty() ? "" : ", ", *last_prefix);
      ++count;
    }
  if (count == 1)
    return *std::move(last_prefix);
  return failure(error_kind::not_found, folder,
                 count == 0 ? ": has no complete checkpoint"
                            : concat(": has several checkpoints; name one: ", names));
}

} // namespace troupe
