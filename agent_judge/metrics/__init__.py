"""Pixel and network measures beside the judge's levels: BPM's parts and the classical columns."""
