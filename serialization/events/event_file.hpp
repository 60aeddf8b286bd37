// Event files for TensorBoard: TFRecord files with the events of a training run.
#pragma once
#include "troupe/runtime/types/tensor.hpp"
#include "troupe/serialization/records/tfrecord.hpp"

#include <variant>

namespace troupe {

/// The number of values in each range. Range i reaches from limit i - 1, inclusive, to limit i,
/// exclusive.
struct histogram {
  double min = 0, max = 0, count = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits, counts; ///< of the ranges, in ascending order

  bool operator==(const histogram&) const = default;
};

/// Counts the elements of a tensor of real numbers, on the host, in ranges that grow by a tenth.
/// Ranges without values are joined. Fails for values that are not finite.
result<histogram> count_histogram(const tensor& numbers);

struct event_image {
  int32_t width = 0, height = 0, channels = 0;
  std::string png;

  bool operator==(const event_image&) const = default;
};

/// Takes width, height and channels from the header of a PNG file.
result<event_image> parse_png_header(std::string png);

struct event_value {
  std::string tag; ///< "loss"; the part before a '/' is the group
  std::variant<std::monostate, float, histogram, event_image> value = {}; ///< none: of unknown kind

  bool operator==(const event_value&) const = default;
};

struct event {
  double seconds = 0; ///< since 1970, by the caller's clock
  int64_t step = 0;
  std::vector<event_value> values = {};
  std::string graph_def = {};    ///< the bytes of a GraphDef; excludes values
  std::string file_version = {}; ///< of the first event of a file

  bool operator==(const event&) const = default;
};

std::string write_event(const event& written_event);
/// The same with values that a step has written as a Summary of any kind (ScalarSummary and the
/// like). Fails with invalid_argument for bytes that are no Summary.
result<std::string> write_summary_event(double seconds, int64_t step, std::string_view summary);
/// Fails with data_loss for bytes that are no event. Events of unknown kinds are empty. A tensor of
/// one float, as TensorFlow 2 writes scalars, is read as a float.
result<event> parse_event(std::string_view record);

/// TensorBoard finds files by their names, and reads the files of a run in the order of the names:
/// "events.out.tfevents.1700000000.host.7".
std::string event_file_name(double seconds, std::string_view host, uint64_t number);

class event_writer {
public:
  /// Creates a file and writes its version.
  static result<event_writer> create(file_system& files, const std::string& path, double seconds);

  status add(const event& written_event) { return records_.add(write_event(written_event)); }
  status add(double seconds, int64_t step, std::string_view summary) {
    TROUPE_ASSIGN(auto record, write_summary_event(seconds, step, summary));
    return records_.add(record);
  }
  /// Makes all events so far visible to TensorBoard.
  status flush() { return records_.flush(); }
  /// Ends the file, and syncs it.
  status finish() { return records_.finish(); }

private:
  explicit event_writer(tfrecord_writer records) : records_(std::move(records)) {}
  tfrecord_writer records_;
};

} // namespace troupe
