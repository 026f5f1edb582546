"""Any pixel mode, bit depth, transparency and colour profile -> opaque 8-bit sRGB."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms, ImageFile, TiffImagePlugin

BACKGROUND = (255, 255, 255)
"""What shows through transparent parts: white, as on a page."""

_PROFILE_MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}
_FLOAT_WHITES = ((2.0, 1.0), (512.0, 255.0), (float("inf"), 65535.0))
"""(largest value at most, value of white): highlights above white make no other range."""
_BITS_TAG, _SAMPLE_FORMAT_TAG, _SIGNED = 258, 339, 2
_SAME_COLOUR_LEVELS = 2
"""A profile that moves no colour further than this is sRGB under another name."""


def flat_srgb(
    image: ImageFile.ImageFile, notes: list[str], assumed_profile: bytes | None = None
) -> Image.Image:
    """The picture as opaque 8-bit sRGB.

    Args:
        image: an opened picture of any mode; it is loaded here.
        notes: gets a line for each change.
        assumed_profile: ICC profile of the colours of a picture that names none; None for sRGB.

    Raises:
        ValueError: no way leads from this mode to RGB, or float values are not finite.
        OSError: the pixels cannot be decoded.
    """
    deep = any(";16" in str(tile.args) for tile in image.tile)  # Pillow forgets it when it loads
    image.load()
    if image.mode == "F":
        colour, alpha = _from_float(np.asarray(image), notes), None
    elif image.mode.startswith("I"):
        colour, alpha = _from_wide_integers(image, notes)
    else:
        colour, alpha = _split(image, deep, notes)
    rgb = _to_srgb(colour, image.info.get("icc_profile") or assumed_profile, notes)
    if alpha is None or np.asarray(alpha).min() == 255:
        return rgb
    notes.append("transparency flattened on white")
    flat = Image.new("RGB", rgb.size, BACKGROUND)
    flat.paste(rgb, mask=alpha)
    return flat


def _split(
    image: Image.Image, deep: bool, notes: list[str]
) -> tuple[Image.Image, Image.Image | None]:
    """Colour and alpha of a picture that Pillow holds in 8 bits a channel."""
    if deep:
        notes.append("16-bit channels scaled to 8 bit")
        key = image.info.get("transparency")
        if isinstance(key, tuple):  # the transparent colour kept its 16 bits
            image.info["transparency"] = tuple(value >> 8 for value in key)
    if not image.has_transparency_data:
        return image, None
    rgba = image.convert("RGBA")
    colours = "L" if image.mode in ("1", "L", "LA") else "RGB"  # grey for a grey profile
    return rgba.convert(colours), rgba.getchannel("A")


def _from_float(values: NDArray[np.float32], notes: list[str]) -> Image.Image:
    """Float grey as 8-bit grey; files do not say which value is white, so the peak tells it."""
    if not np.isfinite(values).all():
        raise ValueError("it holds float values that are not finite")
    peak = values.max()
    white = next(white for limit, white in _FLOAT_WHITES if peak <= limit)
    notes.append(f"float grey scaled to 8 bit, {white:g} taken as white")
    return Image.fromarray(np.rint(values.clip(0, white) * (255 / white)).astype(np.uint8))


def _from_wide_integers(
    image: Image.Image, notes: list[str]
) -> tuple[Image.Image, Image.Image | None]:
    """Grey of 12 to 32 bits as its high 8 bits (as Pillow takes 16-bit RGB), and alpha."""
    values = np.asarray(image)
    bits, is_signed = 16, False
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        bits = image.tag_v2.get(_BITS_TAG, (bits,))[0]
        is_signed = image.tag_v2.get(_SAMPLE_FORMAT_TAG, (1,))[0] == _SIGNED
    notes.append(f"{bits}-bit grey scaled to 8 bit")
    wide = (values.clip(0) if is_signed else values).astype(np.uint32)
    grey = (wide >> (bits - 8 - is_signed)).clip(max=255).astype(np.uint8)
    key = image.info.get("transparency")
    if key is None:
        return Image.fromarray(grey), None
    return Image.fromarray(grey), Image.fromarray(np.where(values == key, 0, 255).astype(np.uint8))


def _to_srgb(image: Image.Image, icc: bytes | None, notes: list[str]) -> Image.Image:
    if icc:
        try:
            return _apply_profile(image, ImageCms.ImageCmsProfile(io.BytesIO(icc)), notes)
        except (ImageCms.PyCMSError, OSError, ValueError):
            notes.append("unusable colour profile ignored")
    if image.mode == "CMYK":
        notes.append("CMYK without a usable colour profile converted to sRGB by formula")
    return image.convert("RGB")


def _apply_profile(
    image: Image.Image, profile: ImageCms.ImageCmsProfile, notes: list[str]
) -> Image.Image:
    mode = _PROFILE_MODES.get(profile.profile.xcolor_space.strip(), "")
    if mode != image.mode:
        if mode != "RGB" or image.mode == "CMYK":
            raise ValueError(f"a profile of {mode or 'other'} colours on a {image.mode} picture")
        image = image.convert("RGB")
    transform = ImageCms.buildTransform(
        profile,
        ImageCms.createProfile("sRGB"),
        mode,
        "RGB",
        ImageCms.Intent.RELATIVE_COLORIMETRIC,
        ImageCms.Flags.BLACKPOINTCOMPENSATION,
    )
    if mode != "CMYK" and _is_srgb(transform, mode):  # else rounding would change its pixels
        return image.convert("RGB")
    converted = ImageCms.applyTransform(image, transform)
    if converted is None:
        raise ValueError("no colours came back")
    name = " ".join((profile.profile.profile_description or "without a name").split())
    notes.append(f"colour profile {name!r} converted to sRGB")
    return converted


def _is_srgb(transform: ImageCms.ImageCmsTransform, mode: str) -> bool:
    steps = np.linspace(0, 255, 16).astype(np.uint8)
    colours = np.stack(np.meshgrid(steps, steps, steps), -1).reshape(64, 64, 3)
    probe = Image.fromarray(colours).convert(mode)
    shown = ImageCms.applyTransform(probe, transform)
    moved = np.asarray(shown, np.int16) - np.asarray(probe.convert("RGB"), np.int16)
    return bool(np.abs(moved).max() <= _SAME_COLOUR_LEVELS)
