// troupe events: prints the content of event files for TensorBoard.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/error.hpp"
#include "troupe/runtime/insight/log_event.hpp"
#include "troupe/serialization/events/event_file.hpp"
#include "troupe/serialization/storage/file_system.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <iostream>
#include <memory>

namespace troupe::cli {
namespace {

// Makes a tag from a file one word without control characters.
std::string printable(std::string_view text) {
  std::string text_out;
  for (auto c : text)
    if (auto code = static_cast<unsigned char>(c); code < 0x20 || code == 0x7f)
      text_out += '?';
    else
      text_out += c;
  return text_out;
}

std::string text_of_seconds(double seconds) {
  constexpr double limit = 4e9; // covers this century and the next
  if (!std::isfinite(seconds) || std::abs(seconds) > limit)
    return concat(seconds);
  return time_text(std::chrono::system_clock::time_point{
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::duration<double>{seconds})});
}

struct value_text {
  std::string operator()(std::monostate) const { return "a value of an unsupported kind"; }
  std::string operator()(float value) const { return concat(value); }
  std::string operator()(const histogram& values) const {
    return concat("histogram of ", values.count, " values from ", values.min, " to ", values.max,
                  ", mean ", values.count > 0 ? values.sum / values.count : 0.0);
  }
  std::string operator()(const event_image& image) const {
    return concat("image of ", image.width, " by ", image.height, ", ", image.channels,
                  " channels, ", image.png.size(), " bytes");
  }
};

void show_event(const event& shown_event) {
  auto line = [&](std::string_view tag, const std::string& text) {
    std::cout << shown_event.step << "  " << text_of_seconds(shown_event.seconds) << "  " << tag
              << "  " << text << '\n';
  };
  for (const auto& value : shown_event.values)
    line(printable(value.tag), std::visit(value_text{}, value.value));
  if (!shown_event.graph_def.empty())
    line("-", concat("graph of ", shown_event.graph_def.size(), " bytes"));
  if (!shown_event.file_version.empty())
    line("-", concat("file of version ", printable(shown_event.file_version)));
  if (shown_event.values.empty() && shown_event.graph_def.empty() &&
      shown_event.file_version.empty())
    line("-", "an event of an unsupported kind");
}

void show_file(const std::string& path) {
  auto records = value_or_throw(open_tfrecord(real_files(), path));
  std::string record;
  for (;;) {
    auto position = records->position();
    if (!value_or_throw(records->next(record)))
      return;
    auto parsed = parse_event(record);
    if (!parsed)
      throw error{parsed.status().with_context(
          concat(path, ": at byte ", position.substr(0, position.find(' '))))};
    show_event(*parsed);
  }
}

// Returns the event files of a run, which are in one folder, in the order of their names.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : value_or_throw(real_files().list(folder)))
    if (!entry.is_folder && entry.name.find("tfevents") != std::string::npos)
      paths.push_back(path_in(folder, entry.name));
  if (paths.empty())
    throw error{failure(error_kind::not_found, folder,
                        ": has no event files (events.out.tfevents.*); name a file, or the folder "
                        "of the summaries of a run")};
  return paths;
}

void show_events(const std::string& path) {
  if (!value_or_throw(real_files().inspect(path)).is_folder)
    return show_file(path);
  auto files = files_in(path);
  for (const auto& file : files) {
    if (files.size() > 1)
      std::cout << "# " << printable(name_of_file(file)) << '\n';
    show_file(file);
  }
}

} // namespace

void add_events(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  auto* command = app.add_subcommand("events", "Event files of runs, for TensorBoard");
  command->require_subcommand(1);
  auto* show_command = command->add_subcommand(
      "show", "Print step, time, tag and value of each scalar, and a line for each other value");
  show_command
      ->add_option("PATH", *path, "An event file, or the folder with the event files of a run")
      ->required();
  show_command->callback([path] { show_events(*path); });
}

} // namespace troupe::cli
