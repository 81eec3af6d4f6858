"""Models on the Hugging Face hub: fetched by their name, and uploaded."""

from __future__ import annotations

from pathlib import Path

from zerotag.errors import ZerotagError


def located(name_or_folder: str | Path) -> Path:
    """The folder itself, or where a model of the Hugging Face hub is once it is fetched."""
    folder = Path(name_or_folder)
    if folder.exists() or str(name_or_folder).count("/") != 1:
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(str(name_or_folder)))
    except (OSError, ValueError) as error:
        raise ZerotagError(
            f"{str(name_or_folder)!r} is neither a folder nor a model that could be fetched from the hub "
            f"({_first_line(error)})"
        ) from error


def upload(folder: Path, repo_id: str, *, private: bool, token: str | None) -> str:
    """Put a model folder on the hub; returns its address."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    api = HfApi(token=token)
    try:
        address = api.create_repo(repo_id, private=private, exist_ok=True)
        api.upload_folder(repo_id=repo_id, folder_path=folder, commit_message="Upload a zerotag word labeller")
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise ZerotagError(
            f"{repo_id!r} cannot be pushed to the hub ({_first_line(error)}): check the name and log in (hf auth login)"
        ) from error
    return str(address)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
