#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/ops/image/shared/jpeg.cpu.hpp"

#include <cstring>
#include <vector>

namespace troupe::ops {
namespace {

// A file of few bytes can cause many passes over a large image; no camera writes this many.
constexpr int max_scans = 200;

class jpeg_decoder {
public:
  jpeg_decoder(std::string_view file, const jpeg_options& options, stop_signal* stop)
      : file_(file), options_(options), stop_(stop) {
    state_.err = &guard_.manager;
    state_.client_data = this;
    is_created_ = guard_.run([this] { jpeg_create_decompress(&state_); });
  }
  ~jpeg_decoder() {
    if (is_created_)
      jpeg_destroy_decompress(&state_);
  }
  jpeg_decoder(const jpeg_decoder&) = delete;
  jpeg_decoder& operator=(const jpeg_decoder&) = delete;

  result<tensor> run(allocator& memory) {
    if (!is_created_ || !guard_.run([this] { read_header(); }))
      return damaged();
    if (options_.channels != 0 && options_.channels != 1 && options_.channels != 3)
      return invalid("a JPEG file has 1 or 3 channels, not ", options_.channels);
    // A block of 8x8 pixels takes at least one bit, except with arithmetic coding.
    TROUPE_TRY(check_size(state_.image_height, state_.image_width, channels_, file_.size(), 4096));
    if (!guard_.run([this] { jpeg_calc_output_dimensions(&state_); }))
      return damaged();
    int64_t height = state_.output_height, width = state_.output_width;
    auto inks = state_.out_color_space == JCS_CMYK;
    TROUPE_ASSIGN(auto image, tensor::make(dtype::u8, shape{height, width, channels_}, memory));
    std::vector<JSAMPLE> four(inks ? static_cast<size_t>(width) * 4 : 0);
    to_ = image.data<uint8_t>();
    if (auto* line = four.data(); !guard_.run([this, line] { read_lines(line); }))
      return damaged();
    if (truncated_) {
      auto min_lines = options_.acceptable_fraction * static_cast<double>(height);
      if (!options_.recover_truncated || !(static_cast<double>(lines_) >= min_lines))
        return invalid("the JPEG file ends early, after ", lines_, " of ", height, " lines");
      fill(image, lines_);
    }
    return image;
  }

  result<std::array<int64_t, 3>> extents() {
    if (!is_created_ || !guard_.run([this] { read_header(); }))
      return damaged();
    return std::array<int64_t, 3>{state_.image_height, state_.image_width, state_.num_components};
  }

private:
  status damaged() const { return invalid("the bytes are no JPEG file: ", guard_.text); }

  template <class State>
  static jpeg_decoder& self(State* state) {
    return *static_cast<jpeg_decoder*>(state->client_data);
  }

  void read_header() {
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(file_.data());
    source_.bytes_in_buffer = file_.size();
    source_.init_source = [](j_decompress_ptr) {};
    source_.term_source = [](j_decompress_ptr) {};
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.fill_input_buffer = [](j_decompress_ptr state) -> boolean {
      static constexpr JOCTET end[] = {0xff, JPEG_EOI};
      if (!self(state).options_.recover_truncated)
        return FALSE;                    // there is no more data
      state->src->next_input_byte = end; // libjpeg fills in the missing lines
      state->src->bytes_in_buffer = sizeof end;
      return TRUE;
    };
    source_.skip_input_data = [](j_decompress_ptr state, long count) {
      auto skipped =
          std::min(static_cast<size_t>(std::max(count, 0L)), state->src->bytes_in_buffer);
      state->src->next_input_byte += skipped;
      state->src->bytes_in_buffer -= skipped;
    };
    state_.src = &source_;
    if (jpeg_read_header(&state_, TRUE) != JPEG_HEADER_OK)
      leave("it ends early");
    channels_ = options_.channels ? options_.channels : std::min(state_.num_components, 3);
    if (state_.num_components == 4)
      state_.out_color_space = JCS_CMYK;
    else
      state_.out_color_space = channels_ == 1 ? JCS_GRAYSCALE : JCS_RGB;
    if (state_.num_components == 4 && channels_ != 3)
      leave("it has four inks, which make 3 channels");
    if (channels_ != 1 && channels_ != 3)
      leave("it has neither 1 nor 3 channels");
    state_.scale_num = 1;
    state_.scale_denom = static_cast<unsigned>(options_.ratio);
    state_.do_fancy_upsampling = options_.fancy_upscaling ? TRUE : FALSE;
    state_.dct_method = options_.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
    progress_.progress_monitor = [](j_common_ptr state) {
      auto& me = self(state);
      if (me.state_.input_scan_number > max_scans)
        me.leave("it has too many scans");
      if (me.stop_ && me.stop_->is_due())
        me.leave("the step was stopped");
    };
    state_.progress = &progress_;
  }

  void read_lines(JSAMPLE* four) {
    truncated_ = !jpeg_start_decompress(&state_);
    auto pitch = static_cast<size_t>(state_.output_width) * static_cast<size_t>(channels_);
    while (!truncated_ && state_.output_scanline < state_.output_height) {
      auto* line = to_ + state_.output_scanline * pitch;
      JSAMPROW row = four ? four : line;
      truncated_ = jpeg_read_scanlines(&state_, &row, 1) == 0;
      if (four && !truncated_)
        mix_inks(four, line);
    }
    lines_ = state_.output_scanline;
    if (truncated_)
      jpeg_abort_decompress(&state_);
    else
      jpeg_finish_decompress(&state_);
  }

  // Adobe stores inks inverted.
  void mix_inks(const JSAMPLE* inks, uint8_t* line) const {
    for (JDIMENSION x = 0; x < state_.output_width; ++x, inks += 4)
      for (int c = 0; c < 3; ++c)
        *line++ =
            static_cast<uint8_t>(state_.saw_Adobe_marker ? inks[3] * inks[c] / 255
                                                         : (255 - inks[3]) * (255 - inks[c]) / 255);
  }

  // Repeats the last line to the end; without a last line the image is black.
  static void fill(tensor& image, int64_t lines) {
    auto pitch = static_cast<size_t>(image.dims()[1] * image.dims()[2]);
    for (auto y = lines; y < image.dims()[0]; ++y) {
      auto* line = image.data<uint8_t>() + static_cast<size_t>(y) * pitch;
      if (y == 0)
        std::memset(line, 0, pitch);
      else
        std::memcpy(line, line - pitch, pitch);
    }
  }

  [[noreturn]] void leave(const char* message_text) {
    std::snprintf(guard_.text, sizeof guard_.text, "%s", message_text);
    std::longjmp(guard_.home, 1);
  }

  std::string_view file_;
  const jpeg_options& options_;
  stop_signal* stop_;
  jpeg_guard guard_;
  jpeg_decompress_struct state_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  uint8_t* to_ = nullptr;
  int channels_ = 0;
  int64_t lines_ = 0;
  bool is_created_ = false, truncated_ = false;
};

} // namespace

result<std::array<int64_t, 3>> jpeg_extents(std::string_view file) {
  if (!is_jpeg(file))
    return invalid("the bytes are no JPEG file: they do not begin as one");
  jpeg_options any;
  return jpeg_decoder{file, any, nullptr}.extents();
}

result<tensor> read_jpeg(std::string_view file, const jpeg_options& options, allocator& memory,
                         stop_signal* stop) {
  if (!is_jpeg(file))
    return invalid("the bytes are no JPEG file: they do not begin as one");
  return jpeg_decoder{file, options, stop}.run(memory);
}

} // namespace troupe::ops
