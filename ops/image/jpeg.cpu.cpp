#include "troupe/ops/image/shared/jpeg.cpu.hpp"
#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <cstdlib>
#include <memory>

namespace troupe::ops::jpeg_cpu {
namespace {

result<std::shared_ptr<void>> prepare_decode_jpeg(const kernel_setup& setup) {
  const auto& jpeg_node = setup.origin;
  return std::shared_ptr<void>{std::make_shared<jpeg_options>(
      jpeg_options{.channels = static_cast<int>(jpeg_node.attr<int64_t>("channels")),
                   .ratio = static_cast<int>(jpeg_node.attr<int64_t>("ratio")),
                   .fancy_upscaling = jpeg_node.attr<bool>("fancy_upscaling"),
                   .recover_truncated = jpeg_node.attr<bool>("try_recover_truncated"),
                   .acceptable_fraction = jpeg_node.attr<double>("acceptable_fraction"),
                   .fast_dct = jpeg_node.attr<std::string>("dct_method") != "INTEGER_ACCURATE"})};
}

status run_decode_jpeg(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("contents must be a scalar, got shape ", at.input(0).dims());
  const auto& options = at.state<jpeg_options>();
  std::string_view file = *at.input(0).data<std::string>();
  TROUPE_ASSIGN(auto image, is_png(file)
                                ? read_png(file, {.channels = options.channels}, at.memory())
                            : is_gif(file) && options.channels != 1
                                ? read_gif(file, gif_frames::only, at.memory(), at.stop())
                                : read_jpeg(file, options, at.memory(), at.stop()));
  at.set_output(0, std::move(image));
  return {};
}

template <class T>
status run_extract_jpeg_shape(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("contents must be a scalar, got shape ", at.input(0).dims());
  TROUPE_ASSIGN(auto extents, jpeg_extents(*at.input(0).data<std::string>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{3}));
  for (size_t i = 0; i < extents.size(); ++i)
    out->template data<T>()[i] = static_cast<T>(extents[i]);
  return {};
}

struct jpeg_settings {
  int channels; // 0: as in the image
  int quality;
  bool progressive, optimize, downsample, per_inch;
  uint16_t x_density, y_density;
  std::string metadata; // XMP, preceded by its identifier
};

result<std::shared_ptr<void>> prepare_encode_jpeg(const kernel_setup& setup) {
  const auto& jpeg_node = setup.origin;
  const auto &format = jpeg_node.attr<std::string>("format"),
             &xmp = jpeg_node.attr<std::string>("xmp_metadata");
  std::string metadata;
  if (!xmp.empty()) {
    constexpr std::string_view xmp_signature{"http://ns.adobe.com/xap/1.0/\0", 29};
    metadata.append(xmp_signature).append(xmp);
    if (metadata.size() > 65533)
      return invalid("xmp_metadata must fit one marker of 65533 bytes, got ", xmp.size());
  }
  return std::shared_ptr<void>{std::make_shared<jpeg_settings>(jpeg_settings{
      format.empty()    ? 0
      : format == "rgb" ? 3
                        : 1,
      static_cast<int>(jpeg_node.attr<int64_t>("quality")), jpeg_node.attr<bool>("progressive"),
      jpeg_node.attr<bool>("optimize_size"), jpeg_node.attr<bool>("chroma_downsampling"),
      jpeg_node.attr<std::string>("density_unit") == "in",
      static_cast<uint16_t>(jpeg_node.attr<int64_t>("x_density")),
      static_cast<uint16_t>(jpeg_node.attr<int64_t>("y_density")), std::move(metadata)})};
}

class jpeg_encoder {
public:
  jpeg_encoder(const tensor& image, const jpeg_settings& settings)
      : image_(image), settings_(settings) {
    state_.err = &guard_.manager;
    is_created_ = guard_.run([this] { jpeg_create_compress(&state_); });
  }
  ~jpeg_encoder() {
    if (is_created_)
      jpeg_destroy_compress(&state_);
    std::free(file_); // libjpeg allocates it by malloc
  }
  jpeg_encoder(const jpeg_encoder&) = delete;
  jpeg_encoder& operator=(const jpeg_encoder&) = delete;

  status write_to(std::string& to) {
    if (!is_created_ || !guard_.run([this] { write(); }))
      return failure(error_kind::resource_exhausted, "cannot encode an image ", image_.dims(),
                     " as JPEG file: ", guard_.text);
    to.assign(reinterpret_cast<const char*>(file_), bytes_);
    return {};
  }

private:
  void write() {
    const auto& dims = image_.dims();
    jpeg_mem_dest(&state_, &file_, &bytes_);
    state_.image_height = static_cast<JDIMENSION>(dims[0]);
    state_.image_width = static_cast<JDIMENSION>(dims[1]);
    state_.input_components = static_cast<int>(dims[2]);
    state_.in_color_space = dims[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&state_);
    if (settings_.optimize)
      state_.optimize_coding = TRUE;
    state_.density_unit = settings_.per_inch ? 1 : 2;
    state_.X_density = settings_.x_density;
    state_.Y_density = settings_.y_density;
    jpeg_set_quality(&state_, settings_.quality, TRUE);
    if (settings_.progressive)
      jpeg_simple_progression(&state_);
    if (!settings_.downsample)
      for (int i = 0; i < state_.num_components; ++i)
        state_.comp_info[i].h_samp_factor = state_.comp_info[i].v_samp_factor = 1;
    jpeg_start_compress(&state_, TRUE);
    if (!settings_.metadata.empty())
      jpeg_write_marker(&state_, JPEG_APP0 + 1,
                        reinterpret_cast<const JOCTET*>(settings_.metadata.data()),
                        static_cast<unsigned>(settings_.metadata.size()));
    auto pitch = static_cast<size_t>(dims[1] * dims[2]);
    while (state_.next_scanline < state_.image_height) {
      JSAMPROW row = image_.data<uint8_t>() + state_.next_scanline * pitch;
      jpeg_write_scanlines(&state_, &row, 1);
    }
    jpeg_finish_compress(&state_);
  }

  const tensor& image_;
  const jpeg_settings& settings_;
  jpeg_guard guard_;
  jpeg_compress_struct state_{};
  unsigned char* file_ = nullptr;
  unsigned long bytes_ = 0;
  bool is_created_ = false;
};

status run_encode_jpeg(kernel_context& at) {
  const auto& image = at.input(0);
  const auto& dims = image.dims();
  const auto& settings = at.state<jpeg_settings>();
  if (dims.rank() != 3 || (dims[2] != 1 && dims[2] != 3) ||
      (settings.channels != 0 && dims[2] != settings.channels))
    return invalid("an image must be [height, width, channels] with ",
                   settings.channels ? concat(settings.channels) : "1 or 3", " channels, got ",
                   dims);
  if (image.elements() == 0 || dims[0] > JPEG_MAX_DIMENSION || dims[1] > JPEG_MAX_DIMENSION)
    return invalid("an image must have 1 to ", JPEG_MAX_DIMENSION, " rows and columns, got ", dims);
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  return jpeg_encoder{image, settings}.write_to(*out->data<std::string>());
}

} // namespace

extern constexpr kernel_def decode_jpeg_cpu{
    .op = "DecodeJpeg",
    .run = {{dtype::none, run_decode_jpeg}},
    .prepare = prepare_decode_jpeg,
};

extern constexpr kernel_def extract_jpeg_shape_cpu{
    .op = "ExtractJpegShape",
    .run = {{dtype::i32, run_extract_jpeg_shape<int32_t>},
            {dtype::i64, run_extract_jpeg_shape<int64_t>}},
    .key = "output_type",
};

extern constexpr kernel_def encode_jpeg_cpu{
    .op = "EncodeJpeg",
    .run = {{dtype::none, run_encode_jpeg}},
    .prepare = prepare_encode_jpeg,
};

} // namespace troupe::ops::jpeg_cpu
