"""Pictures of options as data: URLs, scaled, without metadata and scripts."""

import base64
import io
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from thali.errors import DataError

ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
LONGEST_SIDE = 640  # pixels on the page
MAX_PIXELS, MAX_BYTES = 100_000_000, 50_000_000  # per file
_PILLOW_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
_QUALITY = 85  # JPEG
_MAX_SVG = 1_000_000  # bytes
_ELEMENTS = ("script", "foreignobject", "iframe", "object", "embed", "handler", "set", "animate")
_LINKS = ("href", "src")
_EMBEDDED_LINK = re.compile(r"#|data:image/(?:png|jpeg|gif|webp);", re.IGNORECASE)
_EXTERNAL_STYLE = re.compile(r"""url\((?!['"]?#)|@import|expression\(|javascript:""", re.IGNORECASE)


def encode_picture(path: Path) -> str:
    """Return a picture file as data: URL.

    Raises
    ------
    DataError
        If the file is missing, not a picture, too large, or an SVG with more than a drawing.
    """
    if not path.is_file():
        raise DataError(
            f"There is no picture {str(path)!r}; give paths relative to the folder that contains"
            " the list of pictures."
        )
    if (n_bytes := path.stat().st_size) > MAX_BYTES:
        raise DataError(
            f"The picture {str(path)!r} has {n_bytes:,} bytes; reduce it to at most {MAX_BYTES:,}"
            " bytes."
        )
    file_bytes = path.read_bytes()
    if path.suffix.lower() == ".svg":
        _check_drawing(path, file_bytes)
        return _build_address("svg+xml", file_bytes)
    return _build_address(*_shrink_picture(path, file_bytes))


def _build_address(image_type: str, image_bytes: bytes) -> str:
    """Return a data: URL of image bytes."""
    return f"data:image/{image_type};base64,{base64.b64encode(image_bytes).decode()}"


def _shrink_picture(path: Path, file_bytes: bytes) -> tuple[str, bytes]:
    """Return type and bytes of the picture, upright, scaled, without metadata."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        image: Any = Image.open(io.BytesIO(file_bytes), formats=_PILLOW_FORMATS)
        if image.width * image.height > MAX_PIXELS:
            raise DataError(
                f"The picture {str(path)!r} has {image.width:,} by {image.height:,} pixels; reduce"
                f" it to at most {MAX_PIXELS:,} pixels."
            )
        image = ImageOps.exif_transpose(image)
    except UnidentifiedImageError:
        raise DataError(
            f"{str(path)!r} is not a picture; save it as PNG, JPEG, GIF, WebP or SVG."
        ) from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"The picture {str(path)!r} is damaged ({error}); save it again.") from None
    colour_mode, image_type, save_settings = "RGB", "jpeg", {"quality": _QUALITY}
    if "A" in image.getbands() or "transparency" in image.info:
        colour_mode, image_type, save_settings = "RGBA", "png", {}
    image = image.convert(colour_mode)
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    buffer = io.BytesIO()
    image.save(buffer, image_type, optimize=True, **save_settings)
    return image_type, buffer.getvalue()


def _check_drawing(path: Path, svg_bytes: bytes) -> None:
    """Raise DataError if an SVG contains scripts, links or anything but a drawing."""

    def refuse(part_name: str) -> DataError:
        """Return the error that names the forbidden part of the SVG."""
        return DataError(
            f"The picture {str(path)!r} contains {part_name}; save it as a plain drawing, or as"
            " PNG."
        )

    if len(svg_bytes) > _MAX_SVG:
        raise DataError(f"The picture {str(path)!r} has {len(svg_bytes):,} bytes; save it as PNG.")
    if b"<!ENTITY" in svg_bytes.upper():
        raise refuse("entity definitions")
    if b"<?XML-STYLESHEET" in svg_bytes.upper():
        raise refuse("an external style sheet")
    try:
        root = ElementTree.fromstring(svg_bytes)
    except (ElementTree.ParseError, ValueError, LookupError):
        raise DataError(f"{str(path)!r} is not a readable SVG; save it again.") from None
    if _strip_namespace(root.tag) != "svg":
        raise DataError(
            f"{str(path)!r} is not an SVG; its first element is {_strip_namespace(root.tag)!r}."
        )
    for element in root.iter():
        if not isinstance(element.tag, str):  # a comment or an instruction
            continue
        if _strip_namespace(element.tag) in _ELEMENTS:
            raise refuse(f"the element {_strip_namespace(element.tag)!r}")
        element_texts = list(element.attrib.values())
        if _strip_namespace(element.tag) == "style":
            element_texts.append(element.text or "")
        if any(_EXTERNAL_STYLE.search("".join(text.split())) for text in element_texts):
            raise refuse("a style that loads other files")
        for attribute, attribute_text in element.attrib.items():
            if _strip_namespace(attribute).startswith("on"):
                raise refuse(f"the script {_strip_namespace(attribute)!r}")
            if _strip_namespace(attribute) in _LINKS and not _EMBEDDED_LINK.match(
                attribute_text.strip()
            ):
                raise refuse("an external link")


def _strip_namespace(tag: str) -> str:
    """Return an XML tag in lower case without namespace."""
    return tag.rpartition("}")[2].lower()
