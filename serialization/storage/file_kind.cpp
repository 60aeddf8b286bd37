#include "troupe/serialization/storage/file_kind.hpp"

#include <algorithm>

namespace troupe {
namespace {

using namespace std::string_view_literals;

constexpr size_t inspected_bytes = 4096;
constexpr auto table_ending = "\x57\xfb\x80\x8b\x24\x75\x47\xdb"sv; // of LevelDB, little endian

struct beginning {
  size_t offset;
  std::string_view bytes;
  std::string_view kind;
};

constexpr beginning known[] = {
    {0, "\x89HDF\r\n\x1a\n"sv,
     "HDF5, as the .h5 files of Keras are, which is not read: export the model as a SavedModel "
     "(model.export) and give its folder"},
    {0, "PK\x03\x04"sv,
     "a zip archive, as .npz and .keras files are: .npz files are arrays to feed (@FILE.npy) or "
     "tensors to restore; export a Keras model as a SavedModel (model.export) and give its folder"},
    {0, "\x1f\x8b"sv, "compressed with gzip: decompress it first"},
    {4, "TFL3"sv,
     "a model of TensorFlow Lite, which is not read: give the SavedModel or the frozen graph that "
     "it was made from"},
    {0, "\x93NUMPY"sv, "an array of NumPy: feed it as NAME=@FILE.npy"},
    {0, "\x80\x02"sv, "a pickle of Python, as .pt and .pkl files may be, which is not read"},
};

} // namespace

std::string_view describe_content(std::string_view content) noexcept {
  if (content.ends_with(table_ending))
    return "a checkpoint of TensorFlow, or the index of one, which has tensors and no graph: give "
           "the .meta file beside it, and look at the tensors with `troupe checkpoint show`"sv;
  for (const auto& known_kind : known)
    if (content.size() >= known_kind.offset &&
        content.substr(known_kind.offset).starts_with(known_kind.bytes))
      return known_kind.kind;
  if (!content.empty() && !is_binary(content))
    return "text: a GraphDef as text is read from a file called .pbtxt, a text graph from any "
           "other"sv;
  return {};
}

bool is_binary(std::string_view content) noexcept {
  return std::ranges::any_of(content.substr(0, inspected_bytes), [](char character) {
    auto byte = static_cast<unsigned char>(character);
    return byte < ' ' && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' &&
           byte != '\v';
  });
}

} // namespace troupe
